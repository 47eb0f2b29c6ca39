const mark = "sx-";
const safe = /^[a-zA-Z0-9_-]+$/;

/**
 * Ids and names of tools as Anthropic takes them, `^[a-zA-Z0-9_-]+$`. Another dialect's are kept where they fit;
 * where not, the mark is put before them, an underscore is doubled and every other stranger becomes `_<hex>_`, so that
 * a model can still read a name and `plainName` finds the original again.
 */
export function safeName(name: string): string {
  if (safe.test(name) && !name.startsWith(mark)) return name;
  return (
    mark + name.replace(/[^a-zA-Z0-9-]/g, (unit) => (unit === "_" ? "__" : `_${unit.charCodeAt(0).toString(16)}_`))
  );
}

/** What `safeName` was given; any other text stays as it is. */
export function plainName(name: string): string {
  if (!name.startsWith(mark)) return name;
  const plain = name.slice(mark.length).replace(/__|_([0-9a-f]{1,4})_/g, (_, hex: string | undefined) => {
    return hex === undefined ? "_" : String.fromCharCode(Number.parseInt(hex, 16));
  });
  return safeName(plain) === name ? plain : name;
}
