/** Rules for names. They are plain values, so that code can check a name without loading the schemas. */
export const slugPattern = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const slugRule = "lower-case letters, digits and dashes, at most 63";

/** Longest display name. */
export const nameLengthMax = 256;

/** For texts on one line: names and tags. */
export const linePattern = /^\P{Cc}*$/u;
export const lineRule = "no control characters";

/** Model names are used in paths (`/v1/models/{model}`), where some clients and proxies resolve empty parts and dots. */
export const modelNamePattern =
  /^(?=[^\s\p{Cc}*#\\]{1,256}$)(?!\.{1,2}(?:[;/]|$))[^/]+(?:\/(?!\.{1,2}(?:[;/]|$))[^/]+)*$/u;
export const modelNameRule =
  "no spaces, control characters, *, # or backslash, and no empty or dot part between slashes; at most 256";

/** Rules for the bucket of the ledger export. */
export const bucketPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$/;
export const regionPattern = /^[a-z0-9-]{1,64}$/;
export const objectPrefixPattern = /^[A-Za-z0-9!_.'()*/=-]*$/;
export const objectPrefixLengthMax = 512;
export const objectPrefixRule = "letters, digits and !_.'()*/=-";
