/** What the gateway says of an agent's telemetry: attributes of its resource. */
export type Attribution = Readonly<Record<string, string>>;

export interface Relaying {
  readonly said: Attribution;
  /** The gateway's own `service.name`, which no agent may claim. */
  readonly service: string;
}

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
  const name = inPlainLetters(key);
  return beginsLike.test(name) && isReserved(dotted(name));
}

/** Whether a metric has a name of the gateway's own. */
export function isOwnMetric(metric: string): boolean {
  return `${dotted(inPlainLetters(metric))}.`.startsWith("sluice.");
}

/** Whether an attribute of a resource says that it is the gateway. `service`: the gateway's own name. */
export function claimsService(key: string, value: string, service: string): boolean {
  return dotted(inPlainLetters(key)) === "service.name" && dotted(inPlainLetters(value)) === dotted(service);
}

/** Without the widths, marks and dotless letters by which one name is written in many ways. */
function inPlainLetters(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replaceAll("\u0131", "i")
    .replaceAll("\u0237", "j");
}

function dotted(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ".")
    .replace(/^\./, "");
}

function isReserved(name: string): boolean {
  return reserved.some((start) => name.startsWith(start)) || reserved.includes(`${name}.`);
}
