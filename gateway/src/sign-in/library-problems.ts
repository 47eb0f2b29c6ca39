import { bounds, Failure, type FailureCode } from "#core/index.ts";

/** Our failure for an error code of the library: code, message, field. */
export type Problem = readonly [FailureCode, string, (string | null)?];
export type Problems = Readonly<Record<string, Problem>>;

const wrongCredentials: Problem = ["sign_in_refused", "The email address or the password is wrong."];
export const wrongCode: Problem = ["sign_in_refused", "This code is wrong, or was used before.", "code"];
export const startOver: Problem = [
  "sign_in_refused",
  "This sign-in took too long, or too many codes were wrong. Begin again with the password.",
];
const tooLong: Problem = ["invalid_request", "This took too long, or was begun elsewhere. Try again."];
const noUse: Problem = ["sign_in_refused", "This passkey does not open this console."];
const unverified: Problem = [
  "invalid_request",
  "The passkey could not be verified: the device must ask for a PIN, a fingerprint or a face.",
];

const problems: Problems = {
  INVALID_EMAIL_OR_PASSWORD: wrongCredentials,
  // A disabled user: the answer is the same for a right and a wrong password.
  FAILED_TO_CREATE_SESSION: wrongCredentials,
  INVALID_PASSWORD: ["invalid_request", "The password is wrong.", "password"],
  CREDENTIAL_ACCOUNT_NOT_FOUND: ["conflict", "This user has no password."],
  INVALID_CODE: wrongCode,
  INVALID_BACKUP_CODE: wrongCode,
  INVALID_TWO_FACTOR_COOKIE: startOver,
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: startOver,
  ACCOUNT_TEMPORARILY_LOCKED: ["rate_limit_exceeded", "Too many wrong codes. Wait 15 minutes, then try again."],
  TOTP_NOT_ENABLED: ["conflict", "No authenticator app is set up."],
  TWO_FACTOR_NOT_ENABLED: ["conflict", "Two-factor sign-in is off."],
  BACKUP_CODES_NOT_ENABLED: ["conflict", "There are no backup codes."],
  SESSION_NOT_FRESH: ["confirm_sign_in", "Sign in again to do this."],
  UNAUTHORIZED: ["not_signed_in", "Sign in first."],
  CHALLENGE_NOT_FOUND: tooLong,
  PASSKEY_NOT_FOUND: ["not_found", "Passkey not found."],
  AUTHENTICATION_FAILED: noUse,
  UNABLE_TO_CREATE_SESSION: noUse,
  FAILED_TO_VERIFY_REGISTRATION: unverified,
  YOU_ARE_NOT_ALLOWED_TO_REGISTER_THIS_PASSKEY: ["not_found", "Passkey not found."],
  PROVIDER_NOT_FOUND: ["not_found", "Single sign-on account not found.", "provider"],
  VALIDATION_ERROR: ["invalid_request", "The body is not what this call takes."],
};

/** Unknown and failing passkeys get the same answer. */
export const passkeySignInProblems: Problems = { PASSKEY_NOT_FOUND: noUse };
export const passkeyAddProblems: Problems = { AUTHENTICATION_FAILED: unverified };

/** Converts an error of the library. Unknown codes reveal only their status. */
export function failureOf(status: number, code: string, special: Problems): Failure {
  const problem = special[code] ?? problems[code] ?? (status < 500 ? byStatus[status] : undefined);
  if (problem === undefined) {
    return new Failure("internal_error", "Unexpected error in the gateway.", {
      cause: new Error(`the sign-in library answered ${status} ${code}`),
    });
  }
  const [ours, message, param] = problem;
  const locked = ours === "rate_limit_exceeded" ? { retryAfterMs: bounds.signInTriesMs } : {};
  return new Failure(ours, message, { param: param ?? null, ...locked });
}

export function failureFor([code, message, param]: Problem): Failure {
  return new Failure(code, message, { param: param ?? null });
}

const byStatus: Readonly<Record<number, Problem>> = {
  400: ["invalid_request", "The request cannot be used."],
  401: ["not_signed_in", "Sign in first."],
  403: ["forbidden", "This is not allowed."],
  404: ["not_found", "Nothing exists at this path."],
  409: ["conflict", "This was changed in the meantime. Try again."],
};
