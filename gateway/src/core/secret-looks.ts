/** How names end of members and fields that hold a credential. */
const secretNames =
  "(?:(?:api|access|private|secret|signing|encryption)[_-]?keys?|(?:access|refresh|auth|id|session|bearer|security)[_-]?token|secret|passwords?|passwd|passphrase|credentials?|authorization)";

/**
 * How credentials look that tell what they are: the forms in which vendors give them out. For what may hold somebody's
 * credential without anybody knowing which: logs, captures, upstreams' words.
 */
const looks: readonly (readonly [RegExp, string])[] = [
  // Private keys, whole or cut off; line ends may be written as \n.
  [
    /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:(?!-----BEGIN)[\s\S]){0,16384}?-----END [A-Z0-9 ]*-----/g,
    "[redacted]",
  ],
  [/-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:(?:\\[nr]|\s)+[A-Za-z0-9+/=]{16,})*/g, "[redacted]"],
  [/\bsk-[\w*-]{4,}/g, "sk-[redacted]"],
  [/\b(?:rk|xai|gsk|pplx|hf|fw|nvapi|csk|jina)[-_][\w*-]{16,}/g, "[redacted]"],
  [/\b[rs]k_(?:live|test)_\w{10,}/g, "[redacted]"],
  [/\b(?:gh[oprsu]_\w{16,}|github_pat_\w{20,}|glpat-[\w-]{16,}|npm_\w{30,}|pypi-[\w-]{30,})/g, "[redacted]"],
  [/\b(?:xox[abeoprs]|xapp)-[\w-]{10,}/g, "[redacted]"],
  [/\b(?:dop_v1|shpat|shpss|whsec|hvs|dckr_pat|r8|lin_api|figd)[_.][\w+/=-]{16,}/g, "[redacted]"],
  [/\bSG\.[\w-]{16,}\.[\w-]{16,}/g, "[redacted]"],
  [/\bAIza[\w*-]{16,}/g, "[redacted]"],
  [/\b(?:AKIA|ASIA|ya29\.|GOCSPX-)[\w.-]{12,}/g, "[redacted]"],
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, "[redacted]"],
  [/\b(bearer|basic) +[\w.~+/=-]{6,}/gi, "$1 [redacted]"],
  [/(:\/\/[^\s/:@"]*:)[^\s/@"]+@/g, "$1[redacted]@"],
  // Members of JSON and fields of forms whose name says it; the first also in JSON that is a text of JSON.
  [new RegExp(`(\\\\+"[\\w-]{0,64}?${secretNames}\\\\+"\\s*:\\s*\\\\+")[^"\\\\]+`, "gi"), "$1[redacted]"],
  [new RegExp(`("[\\w-]{0,64}?${secretNames}"\\s*:\\s*")(?:[^"\\\\]|\\\\.)+`, "gi"), "$1[redacted]"],
  [new RegExp(`((?<![\\w-])[\\w-]{0,64}?${secretNames}=)[^&\\s"'\\\\]+`, "gi"), "$1[redacted]"],
  [/([?&](?:key|api_?key|token|access_token|x-amz-signature|sig(?:nature)?)=)[^&\s"']+/gi, "$1[redacted]"],
];

/** A text without what looks like a credential: keys, bearer tokens, private keys, passwords in URLs. */
export function maskSecrets(text: string): string {
  return looks.reduce((masked, [look, replacement]) => masked.replace(look, replacement), text);
}
