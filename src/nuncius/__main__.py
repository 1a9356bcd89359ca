"""`python -m nuncius`: the same as the command."""

from nuncius.cli.main import run

if __name__ == "__main__":
    run()
