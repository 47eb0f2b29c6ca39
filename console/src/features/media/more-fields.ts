import { t } from "../../language/areas/media.ts";

export type Fields = Readonly<Record<string, unknown>>;

export type ReadFields = { readonly fields: Fields; readonly problem: null } | { readonly problem: string };

/** Request fields entered as JSON. Empty text: no fields. */
export function readFields(text: string): ReadFields {
  if (text.trim() === "") return { fields: {}, problem: null };
  const read = readJson(text);
  if (read.problem !== null) return read;
  const { value } = read;
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    return { problem: t("media.form.notObject") };
  }
  return { fields: value as Fields, problem: null };
}

export function readJson(
  text: string,
): { readonly value: unknown; readonly problem: null } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text), problem: null };
  } catch (thrown) {
    return { problem: t("media.form.notJson", { reason: thrown instanceof Error ? thrown.message : String(thrown) }) };
  }
}
