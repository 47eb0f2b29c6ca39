/** What the gateway says of an agent's telemetry: attributes of its resource. */
export type Attribution = Readonly<Record<string, string>>;

/** One message of an agent cannot be read, or is made to cost more than telemetry does. */
export class Unreadable extends Error {
  override readonly name = "Unreadable";
}

const reserved = ["user.", "enduser.", "sluice.", "identity."];

const beginsLike = /^[^a-z0-9]*(?:user|enduser|sluice|identity)/i;

/**
 * Whether an attribute says who somebody is: only the gateway says that. However it is spelled, since backends bring names to one form:
 * `user_id` and `User.Id` become what `user.id` becomes.
 */
export function saysWho(key: string): boolean {
  if (!beginsLike.test(key)) return false;
  const name = key
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ".")
    .replace(/^\./, "");
  return reserved.some((start) => name.startsWith(start)) || reserved.includes(`${name}.`);
}
