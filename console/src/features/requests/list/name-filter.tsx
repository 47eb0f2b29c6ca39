import { Autocomplete, type ComboboxItem, type OptionsFilter } from "@mantine/core";
import { useEffect, useState } from "react";
import { useUrlText } from "../../../routes/search.ts";

interface NameFilterProps {
  /** Its name in the URL. */
  readonly name: string;
  readonly label: string;
  /** Suggestions only: requests of deleted names can be searched too. */
  readonly names: readonly string[];
}

const shownMax = 50;

/** A filter by an exact name: selected from a list, or typed and confirmed with Enter. */
export function NameFilter({ name, label, names }: NameFilterProps) {
  const [kept, keep] = useUrlText(name);
  const [text, setText] = useState(kept);
  useEffect(() => setText(kept), [kept]);
  const commit = (value: string) => {
    setText(value);
    keep(value.trim());
  };
  return (
    <Autocomplete
      aria-label={label}
      placeholder={label}
      className="filter"
      size="sm"
      data={[...new Set(names)]}
      limit={shownMax}
      filter={leastSurprising}
      maxLength={256}
      value={text}
      onChange={setText}
      onOptionSubmit={commit}
      onBlur={() => commit(text)}
      onKeyDown={(event) => {
        // If an option is highlighted, Enter selects it.
        if (event.key === "Enter" && event.currentTarget.getAttribute("aria-activedescendant") === null) commit(text);
      }}
      clearable
      onClear={() => commit("")}
    />
  );
}

/** Names that contain the text; all names once the text equals one, so that another can be selected. */
const leastSurprising: OptionsFilter = ({ options, search, limit }) => {
  const wanted = search.trim().toLowerCase();
  const items = options as ComboboxItem[];
  const exact = items.some((item) => item.label.toLowerCase() === wanted);
  return (exact ? items : items.filter((item) => item.label.toLowerCase().includes(wanted))).slice(0, limit);
};
