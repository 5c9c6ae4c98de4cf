const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Record<string, string | number | boolean>} Attributes */
/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @typedef {Partial<HTMLElementTagNameMap[Name]> & Record<`aria-${string}`, Value>} Properties
 */
/** @typedef {string | number | boolean} Value */

/**
 * An HTML element. Names of its properties, listeners included, are set as properties, others as
 * attributes. Children are elements or texts; texts never become markup.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Properties<Name>} [properties]
 * @param {(Node | string)[]} children
 */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) Reflect.set(made, key, value);
    else made.setAttribute(key, String(value));
  }
  made.append(...children);
  return made;
}

/**
 * An SVG element with these attributes.
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} [attributes]
 * @param {(Node | string)[]} children
 */
export function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  set(made, attributes);
  made.append(...children);
  return made;
}

/**
 * Set the attributes that differ.
 * @param {Element} target
 * @param {Attributes} attributes
 */
export function set(target, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    const text = String(value);
    if (target.getAttribute(key) !== text) target.setAttribute(key, text);
  }
}

/**
 * Set a text if it differs, so that a selection in it is kept.
 * @param {Element} target
 * @param {string} text
 */
export function say(target, text) {
  if (target.textContent !== text) target.textContent = text;
}
