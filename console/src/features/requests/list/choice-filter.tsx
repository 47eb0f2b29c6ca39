import { Select } from "@mantine/core";
import { useUrlText } from "../../../routes/search.ts";

interface ChoiceFilterProps {
  /** Its name in the URL. */
  readonly name: string;
  readonly label: string;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
}

/** A filter by one of a few values. An unknown value in the URL is shown unchanged. */
export function ChoiceFilter({ name, label, choices }: ChoiceFilterProps) {
  const [urlValue, setUrlValue] = useUrlText(name);
  const isListed = urlValue === "" || choices.some((choice) => choice.value === urlValue);
  return (
    <Select
      aria-label={label}
      placeholder={label}
      className="filter"
      data={isListed ? [...choices] : [{ value: urlValue, label: urlValue }, ...choices]}
      value={urlValue === "" ? null : urlValue}
      onChange={(value) => setUrlValue(value ?? "")}
      searchable={choices.length > 8}
      clearable
    />
  );
}
