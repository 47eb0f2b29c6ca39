import { Select } from "@mantine/core";
import { t } from "../../../language/areas/requests.ts";
import { useUrlText } from "../../../routes/search.ts";

interface ChoiceFilterProps {
  /** Its name in the address. */
  readonly name: string;
  readonly label: string;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  /** Stands in a dialog: its label above it, its list inside. */
  readonly within?: boolean;
}

/** A filter by one of a few values. An address may name another; it is shown as it is. */
export function ChoiceFilter({ name, label, choices, within = false }: ChoiceFilterProps) {
  const [kept, keep] = useUrlText(name);
  const known = kept === "" || choices.some((choice) => choice.value === kept);
  return (
    <Select
      {...(within
        ? { label, placeholder: t("requests.any"), comboboxProps: { withinPortal: false } }
        : { "aria-label": label, placeholder: label, className: "filter" })}
      data={known ? [...choices] : [{ value: kept, label: kept }, ...choices]}
      value={kept === "" ? null : kept}
      onChange={(value) => keep(value ?? "")}
      searchable={choices.length > 8}
      clearable
    />
  );
}
