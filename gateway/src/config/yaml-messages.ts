import type { ErrorCode } from "yaml";

/**
 * The parser's own sentences quote the text around an error, which may be a secret. These do not.
 */
export const yamlMessages: { readonly [K in ErrorCode]: string } = {
  ALIAS_PROPS: "an alias (`*name`) cannot have an anchor or a tag",
  BAD_ALIAS: "this alias (`*name`) has no anchor (`&name`) above it; put a text that begins with * in quotes",
  BAD_COLLECTION_TYPE: "the tag does not fit this kind of value",
  BAD_DIRECTIVE: "not a directive of YAML; put a text that begins with % in quotes",
  BAD_DQ_ESCAPE: "not an escape that double quotes know; use single quotes to keep backslashes",
  BAD_INDENT: "the indentation does not fit the lines above, or a bracket above is not closed",
  BAD_PROP_ORDER: "an anchor or a tag must stand directly before its value",
  BAD_SCALAR_START: "a text that begins with this character must be in quotes",
  BLOCK_AS_IMPLICIT_KEY: "a second `: ` in one line; put the text in quotes if the colon belongs to it",
  BLOCK_IN_FLOW: "a list or map by indentation cannot stand inside [ ] or { }",
  DUPLICATE_KEY: "this field is already given above in the same object",
  IMPOSSIBLE: "cannot be read as YAML or JSON",
  KEY_OVER_1024_CHARS: "the name of a field is longer than 1024 characters",
  MISSING_CHAR: "a comma, a colon, a bracket or a quote is missing here",
  MULTILINE_IMPLICIT_KEY: "the name of a field must be in one line, followed by `: `",
  MULTIPLE_ANCHORS: "a value can have one anchor only",
  MULTIPLE_DOCS: "a config file is one document; `---` begins a second one",
  MULTIPLE_TAGS: "a value can have one tag only",
  NON_STRING_KEY: "the name of a field must be a plain text",
  RESOURCE_EXHAUSTION: "too deep or too large to be read",
  TAB_AS_INDENT: "a tab is not allowed as indentation; use spaces",
  TAG_RESOLVE_FAILED: "tags (`!name`) mean nothing here; put a text that begins with ! in quotes",
  UNEXPECTED_TOKEN: "not expected here; check the indentation and the quotes above",
};
