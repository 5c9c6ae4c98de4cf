const SVG = "http://www.w3.org/2000/svg";

/**
 * An HTML element. Keys of `properties` that begin with "on" are listeners, those that the
 * element has as a property are set as such, all others are attributes. Children are elements or
 * texts; texts never become markup.
 */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** An SVG element with these attributes. */
export function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  set(made, attributes);
  made.append(...children);
  return made;
}

/** Set attributes, those that differ only. */
export function set(target, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (target.getAttribute(key) !== String(value)) target.setAttribute(key, value);
  }
}

/** Set a text, if it differs: a selection in it stays. */
export function say(target, text) {
  if (target.textContent !== text) target.textContent = text;
}
