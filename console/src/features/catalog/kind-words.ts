import type { ProviderKindForm } from "@sluice/contract";
import { t } from "../../language/areas/kinds.ts";
import { kinds } from "../../language/en/kinds.ts";

type Field = ProviderKindForm["fields"][number];

/** A kind in the words of the catalogue. What the catalogue lacks, of a gateway that is newer, stays as the gateway says it. */
export function kindInWords(form: ProviderKindForm): ProviderKindForm {
  const own = `kind.${form.kind}`;
  return {
    ...form,
    title: wordsAt(`${own}.title`) ?? form.title,
    base_url_help: form.base_url_help === null ? null : (wordsAt(`${own}.baseUrl`) ?? form.base_url_help),
    api_key_help: form.api_key_help === null ? null : (wordsAt(`${own}.apiKey`) ?? form.api_key_help),
    fields: form.fields.map((field) => fieldInWords(form.kind, field)),
  };
}

function fieldInWords(kind: string, field: Field): Field {
  const own = `kind.${kind}.setting.${field.name}`;
  const place = wordsAt(`${own}.label`) === null ? `setting.${field.name}` : own;
  return {
    ...field,
    label: wordsAt(`${place}.label`) ?? field.label,
    help: field.help === null ? null : (wordsAt(`${place}.help`) ?? field.help),
  };
}

/** null: the catalogue has no such text. */
function wordsAt(path: string): string | null {
  let found: unknown = kinds;
  for (const name of path.split(".")) {
    if (found === null || typeof found !== "object" || !Object.hasOwn(found, name)) return null;
    found = Reflect.get(found, name);
  }
  return (t as (name: string) => string)(`kinds.${path}`);
}
