/**
 * guardrails: rules on what calls may send and receive. Finds credentials, personal data and patterns in requests and answers.
 */
export { patternProblem } from "./detect/index.ts";
