import type { Provider } from "#core/index.ts";
import { isObject, parseObject } from "#protocols/index.ts";
import { passesMember } from "../settings.ts";

/** In lower case, without dashes and underscores. */
const objectNames: ReadonlySet<string> = new Set([
  ...["fileid", "fileids", "fileuri", "gcsuri"],
  ...["characters", "characterids", "elementid", "elementids"],
]);

/** Google's files and storage, which its API reads with the account's credential. */
const storedAddress = /^(?:gs:\/\/|(?:https?:\/\/[^?#\s]+\/v1(?:beta)?\/)?files\/)/i;
const addressNames: ReadonlySet<string> = new Set(["uri", "url"]);

const nestingMax = 32;

/**
 * The caller's vendor fields that name objects of the account, unless the account allows them: workspaces share accounts, and the objects
 * may belong to another one. Names in forms (`input_reference[file_id]`) and fields with JSON as text count too.
 */
export function accountObjectsIn(
  fields: Readonly<Record<string, unknown>>,
  provider: Provider,
): readonly { readonly path: string; readonly value: unknown }[] {
  const found: { path: string; value: unknown }[] = [];
  const collect = (value: unknown, path: string, depth: number): void => {
    if (depth > nestingMax) found.push({ path, value: "nested too deep" });
    else if (Array.isArray(value)) {
      for (const [index, one] of value.entries()) collect(one, `${path}[${index}]`, depth + 1);
    } else if (isObject(value)) {
      for (const [name, member] of Object.entries(value)) {
        const at = path === "" ? name : `${path}.${name}`;
        if (!namesObject(name, member)) collect(member, at, depth + 1);
        else if (!passesMember(provider, at)) found.push({ path: at, value: member });
      }
    } else if (typeof value === "string" && /^\s*[[{]/.test(value)) {
      collect(parseObject(`{"value":${value}}`)?.["value"], path, depth + 1);
    }
  };
  collect(fields, "", 0);
  return found;
}

function namesObject(name: string, value: unknown): boolean {
  if (value === null) return false;
  const folded = name
    .replaceAll(/[-_]/g, "")
    .toLowerCase()
    .split(/[[\].]+/);
  if (folded.some((part) => objectNames.has(part))) return true;
  return typeof value === "string" && storedAddress.test(value) && folded.some((part) => addressNames.has(part));
}
