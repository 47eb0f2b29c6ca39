/** Where a guardrail can look. A text that no dialect names counts as `text`. */
export const guardrailPlaces = ["text", "system", "tool_arguments", "tool_results", "files", "reasoning"] as const;
export type GuardrailPlace = (typeof guardrailPlaces)[number];

export const guardrailSides = ["input", "output"] as const;
export type GuardrailSide = (typeof guardrailSides)[number];

/**
 * block  refuse the call
 * mask   replace each finding with a placeholder, and restore the values in the answer
 * flag   only record it
 */
export const guardrailActions = ["block", "mask", "flag"] as const;
export type GuardrailAction = (typeof guardrailActions)[number];

/** Kinds of personal data that the check `personal_data` finds. */
export const personalDataTypes = [
  "email",
  "phone",
  "card",
  "iban",
  "ip_address",
  "us_ssn",
  "uk_nino",
  "uk_nhs",
  "de_tax_id",
  "fr_nir",
  "es_nif",
  "it_fiscal_code",
  "nl_bsn",
  "pl_pesel",
  "se_personnummer",
  "cn_resident_id",
  "cn_mobile",
] as const;
export type PersonalDataType = (typeof personalDataTypes)[number];

export const guardrailChecks = [
  "credentials",
  "personal_data",
  "patterns",
  "words",
  "moderation",
  "classifier",
  "webhook",
] as const;
export type GuardrailCheckKind = (typeof guardrailChecks)[number];

/** Checks of the gateway that find places in a text. */
export const locatingChecks = ["credentials", "personal_data", "patterns", "words"] as const;
/** Checks that may find places, so that they can mask them. */
export const maskingChecks = [...locatingChecks, "webhook"] as const;

export const guardrailBounds = {
  /** Guardrails that may apply to one call. */
  perCallMax: 64,
  webhooksPerCallMax: 8,
  webhookBytesMax: 256 * 1024,
  patternsMax: 100,
  patternCharsMax: 1_000,
  wordsMax: 5_000,
  wordCharsMax: 200,
  timeoutMsMin: 50,
  timeoutMsMax: 30_000,
} as const;

/** Results of a check that are stored one by one. `passed` is only counted. */
export const guardrailVerdicts = ["blocked", "masked", "flagged", "failed"] as const;
