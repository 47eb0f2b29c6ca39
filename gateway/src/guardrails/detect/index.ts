/**
 * detect: finds credentials, personal data, patterns and words in a text. Pure and synchronous; `Detector` in core describes its use in a
 * stream.
 */
import type { Detector, LocatingCheck } from "#core/index.ts";
import { credentialDetector } from "./credentials.ts";
import { patternDetector } from "./patterns.ts";
import { personalDataDetector } from "./personal-data.ts";
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
