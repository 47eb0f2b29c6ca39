import { Button, Group, Select } from "@mantine/core";
import type { ReactNode } from "react";
import { t } from "../language/areas/components.ts";
import { useUrlChange, useUrlSearch } from "../routes/search.ts";

interface FilterChoice {
  readonly value: string;
  readonly label: string;
}

export interface Filter {
  /** Its name in the URL. */
  readonly name: string;
  readonly label: string;
  readonly choices: readonly (FilterChoice | string)[];
}

interface FilterBarProps {
  readonly filters?: readonly Filter[];
  /** A SearchBox, a TimeRange or a switch, shown before the filters. */
  readonly children?: ReactNode;
  /** Additional URL parameters that "Clear" removes. */
  readonly alsoClears?: readonly string[];
}

/** Search and filters above a list. The URL holds their state, so that a view can be shared. */
export function FilterBar({ filters = [], children, alsoClears = ["search"] }: FilterBarProps) {
  const search = useUrlSearch();
  const change = useUrlChange();
  const names = [...filters.map((filter) => filter.name), ...alsoClears];
  const set = names.filter((name) => (search[name] ?? "") !== "");
  return (
    <search>
      <Group gap="xs" className="filter-bar">
        {children}
        {filters.map((filter) => (
          <Select
            key={filter.name}
            aria-label={filter.label}
            placeholder={filter.label}
            data={filter.choices.map((choice) =>
              typeof choice === "string" ? { value: choice, label: choice } : choice,
            )}
            value={search[filter.name] || null}
            onChange={(value) => change({ [filter.name]: value ?? "" })}
            clearable
            searchable={filter.choices.length > 8}
            className="filter"
          />
        ))}
        {set.length > 0 && (
          <Button variant="subtle" onClick={() => change(Object.fromEntries(set.map((name) => [name, ""])))}>
            {t("components.actions.clear")}
          </Button>
        )}
      </Group>
    </search>
  );
}
