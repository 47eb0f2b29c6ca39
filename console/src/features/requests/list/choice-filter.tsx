import { Select } from "@mantine/core";
import { useUrlText } from "../../../routes/search.ts";

interface ChoiceFilterProps {
  /** Its name in the address. */
  readonly name: string;
  readonly label: string;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
}

/** A filter by one of a few values. An address may name another; it is shown as it is. */
export function ChoiceFilter({ name, label, choices }: ChoiceFilterProps) {
  const [kept, keep] = useUrlText(name);
  const known = kept === "" || choices.some((choice) => choice.value === kept);
  return (
    <Select
      aria-label={label}
      placeholder={label}
      className="filter"
      data={known ? [...choices] : [{ value: kept, label: kept }, ...choices]}
      value={kept === "" ? null : kept}
      onChange={(value) => keep(value ?? "")}
      searchable={choices.length > 8}
      clearable
    />
  );
}
