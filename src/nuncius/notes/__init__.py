"""Sample review notes for `nuncius demo`, in Markdown, HTML and PDF."""
