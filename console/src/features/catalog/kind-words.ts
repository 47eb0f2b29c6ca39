import type { ProviderKindForm } from "@sluice/contract";
import { textOrNull } from "../../language/area.tsx";

type Field = ProviderKindForm["fields"][number];
type TextOf = (name: string) => string | null;

/** A provider's form in the page's language. Missing texts stay in the gateway's English. */
export function kindInWords(form: ProviderKindForm, textOf: TextOf = textOrNull): ProviderKindForm {
  const own = `kinds.kind.${form.kind}`;
  return {
    ...form,
    title: textOf(`${own}.title`) ?? form.title,
    base_url_help: form.base_url_help === null ? null : (textOf(`${own}.baseUrl`) ?? form.base_url_help),
    api_key_help: form.api_key_help === null ? null : (textOf(`${own}.apiKey`) ?? form.api_key_help),
    fields: form.fields.map((field) => fieldInWords(form.kind, field, textOf)),
  };
}

function fieldInWords(kind: string, field: Field, textOf: TextOf): Field {
  const own = `kinds.kind.${kind}.setting.${field.name}`;
  const place = textOf(`${own}.label`) === null ? `kinds.setting.${field.name}` : own;
  return {
    ...field,
    label: textOf(`${place}.label`) ?? field.label,
    help: field.help === null ? null : (textOf(`${place}.help`) ?? field.help),
  };
}
