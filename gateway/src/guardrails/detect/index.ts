/**
 * detect: finds credentials, personal data, patterns and words in a text. Pure and synchronous; `Detector` in core describes its use in a
 * stream.
 */
import type { Detector, LocatingCheck } from "#core/index.ts";
import type { TextFilter } from "#protocols/index.ts";
import { credentialDetector } from "./credentials.ts";
import { patternDetector } from "./patterns.ts";
import { personalDataDetector } from "./personal-data.ts";
import { mayFind, sought } from "./prefilter.ts";
import { wordDetector } from "./words.ts";

export { patternProblem } from "./patterns.ts";

/** Compiles a check once, for many texts. Throws an Error for a pattern that cannot be compiled. */
export function createDetector(check: LocatingCheck): Detector {
  switch (check.kind) {
    case "credentials":
      return credentialDetector();
    case "personal_data":
      return personalDataDetector(check.types);
    case "patterns":
      return patternDetector(check.patterns);
    case "words":
      return wordDetector(check);
  }
}

/** Excludes texts in which none of the checks finds anything; null: one of them has to search every text. */
export function filterOf(checks: readonly LocatingCheck[]): TextFilter | null {
  let wanted = 0;
  for (const check of checks) {
    if (check.kind === "credentials") wanted |= sought.credentials;
    else if (check.kind !== "personal_data") return null;
    else for (const type of check.types) wanted |= type === "email" ? sought.emails : sought.numbers;
  }
  return (bytes, start, end, levels) => mayFind(wanted, bytes, start, end, levels);
}
