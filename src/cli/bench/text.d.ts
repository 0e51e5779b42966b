/** Python files are bundled as text. */
declare module '*.py' {
  const text: string;
  export default text;
}
