import hooks from 'eslint-plugin-react-hooks'
import tseslint from 'typescript-eslint'

export default tseslint.config(
  { ignores: ['node_modules', 'src/api/events.ts'] },
  {
    files: ['src/**/*.{ts,tsx}'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    plugins: { 'react-hooks': hooks },
    rules: {
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
      // Numbers in template strings are the point of most of them here.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // An arrow that returns a setter's nothing reads better than a block.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      // Raw HTML never: models' and papers' text becomes nodes.
      'no-restricted-syntax': [
        'error',
        { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: 'Text becomes nodes, never HTML.' },
        { selector: "MemberExpression[property.name='innerHTML']", message: 'Text becomes nodes, never HTML.' },
      ],
    },
  },
  { files: ['src/**/*.test.{ts,tsx}'], rules: { 'no-restricted-syntax': 'off' } },
)
