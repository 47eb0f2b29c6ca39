import { Failure, type HeaderReader } from "#core/index.ts";

/**
 * Whether a header is a vendor's version of its API: `<vendor>-version`, in lower case. Names that begin with `x-` or `sec-` are
 * programs' own: what they send with, and who they are.
 */
export function isVendorVersion(name: string): boolean {
  return name.endsWith("-version") && vendorName.test(name);
}

/** A day that there is, as YYYY-MM-DD. */
export function isVersionDate(value: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}

/**
 * Anthropic's own header, or any vendor's, has to say which version of the API is meant. A client's own version beside one of
 * those (`agent-version: 1.4.2`) is none of them. Throws Failure missing_version_header or invalid_request.
 */
export function requireVendorVersion(headers: HeaderReader): void {
  const own = headers.get(anthropic);
  if (own !== null && own !== "") {
    if (isVersionDate(own)) return;
    throw notADate(anthropic, own);
  }
  let other: Failure | null = null;
  for (const [name, value] of headers) {
    if (name === anthropic || !isVendorVersion(name)) continue;
    if (isVersionDate(value)) return;
    other ??= notADate(name, value);
  }
  if (other !== null) throw other;
  throw new Failure(
    "missing_version_header",
    "anthropic-version: header is required; another vendor's <vendor>-version with a date will do as well",
    { param: anthropic },
  );
}

const anthropic = "anthropic-version";

/** The bound keeps a name that is no vendor's out of errors and upstreams. */
const vendorName = /^(?!x-|sec-)[a-z0-9][a-z0-9_.-]{0,63}-version$/;

/** A header that is sent twice arrives as one, with its values joined. */
function notADate(name: string, value: string): Failure {
  const several = /^\d{4}-\d{2}-\d{2}\s*,/.test(value);
  const why = several ? "must be sent once, with one date" : "must be a date such as 2023-06-01";
  return new Failure("invalid_request", `${name}: ${why}`, { param: name });
}
