/** How things may be called, as plain rules: the schemas are made of them, and what checks one name needs no schema. */
export const slugPattern = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const slugRule = "lower-case letters, digits and dashes, at most 63";

/** The longest name that people read. */
export const nameLettersMax = 256;

/** A model's name stands in paths (`/v1/models/{model}`), where an empty part or one made of dots means something else to some readers. */
export const modelNamePattern =
  /^(?=[^\s\p{Cc}*#\\]{1,256}$)(?!\.{1,2}(?:[;/]|$))[^/]+(?:\/(?!\.{1,2}(?:[;/]|$))[^/]+)*$/u;
export const modelNameRule =
  "no spaces, control characters, *, # or backslash, and no empty or dot part between slashes; at most 256";

/** Of the place that the ledger is copied to. */
export const bucketPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$/;
export const regionPattern = /^[a-z0-9-]{1,64}$/;
export const objectPrefixPattern = /^[A-Za-z0-9!_.'()*/=-]*$/;
export const objectPrefixLettersMax = 512;
export const objectPrefixRule = "letters, digits and !_.'()*/=-";
