/** Keys that sign requests to AWS. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** null: keys of a user, which do not expire. */
  readonly sessionToken: string | null;
}

/** A bearer token, or keys. */
export type ShortLived = string | AwsKeys;

/** `expiresInMs` counts from now. */
export interface Issued<Credential extends ShortLived = ShortLived> {
  readonly credential: Credential;
  readonly expiresInMs: number;
}

/** The texts that must never be displayed. */
export function secretsIn(credential: ShortLived): readonly string[] {
  if (typeof credential === "string") return [credential];
  const { secretAccessKey, sessionToken } = credential;
  return sessionToken === null ? [secretAccessKey] : [secretAccessKey, sessionToken];
}
