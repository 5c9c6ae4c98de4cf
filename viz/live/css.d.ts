/** A style sheet as page.py joins it in. */
declare module "*.css" {
  const sheet: CSSStyleSheet;
  export default sheet;
}
