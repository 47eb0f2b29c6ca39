import { Button, Group, Pill, Popover, Select, Stack } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconFilterPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useCall } from "../../api/use-call.ts";
import { t } from "../../language/areas/usage.ts";
import { useUrlChange } from "../../routes/search.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { rowName } from "./row-names.ts";
import {
  type FilterName,
  filterFor,
  filterNames,
  offeredDimensions,
  type RowDimension,
  type UsageView,
} from "./usage-view.ts";

const quietMs = 250;
const choicesMax = 50;

/** The filters of the page as pills, and a form to add one from the values that were used in the period. */
export function UsageFilters({ view }: { readonly view: UsageView }) {
  const change = useUrlChange();
  const active = filterNames.filter((name) => view.filters[name] !== undefined);
  return (
    <search aria-label={t("usage.filters.title")}>
      <Group gap="xs" className="filter-bar">
        {active.map((name) => (
          <ActiveFilter key={name} view={view} name={name} />
        ))}
        <AddFilter view={view} />
        {active.length > 1 && (
          <Button variant="subtle" onClick={() => change(Object.fromEntries(active.map((name) => [name, ""])))}>
            {t("usage.filters.clear")}
          </Button>
        )}
      </Group>
    </search>
  );
}

function dimensionOf(name: FilterName): RowDimension {
  return name === "tag_value" ? "tag" : name;
}

function ActiveFilter({ view, name }: { readonly view: UsageView; readonly name: FilterName }) {
  const change = useUrlChange();
  const { path } = useWorkspace();
  const by = dimensionOf(name);
  const value = view.filters[name] ?? "";
  const isNamed = by === "key" || by === "group" || by === "person";
  const named = useCall("usage.rows", {
    params: { workspace: path },
    query: { ...view.query, by, limit: 1 },
    enabled: isNamed && value !== "-",
  });
  const label = named.data?.data[0]?.label ?? value;
  const title = by === "tag" ? view.tag : t(`usage.by.${by}`);
  const text = t("usage.filters.is", { name: title, value: rowName({ id: value, label }, by) });
  return (
    <Pill
      size="lg"
      withRemoveButton
      removeButtonProps={{ "aria-label": t("usage.filters.remove", { name: text }), tabIndex: 0, "aria-hidden": false }}
      onRemove={() => change({ [name]: "" })}
    >
      {text}
    </Pill>
  );
}

function AddFilter({ view }: { readonly view: UsageView }) {
  const { path, all, may } = useWorkspace();
  const change = useUrlChange();
  const [opened, setOpened] = useState(false);
  const [field, setField] = useState<FilterName>("model");
  const [text, setText] = useState("");
  const [settled] = useDebouncedValue(text, quietMs);
  const by = dimensionOf(field);
  const values = useCall("usage.rows", {
    params: { workspace: path },
    query: { ...view.query, by, limit: choicesMax, ...(settled === "" ? {} : { search: settled }) },
    enabled: opened && (by !== "tag" || view.tag !== ""),
    keepBefore: true,
  });
  const fields = offeredDimensions(all, may("admin")).flatMap((dimension) => {
    const name = filterFor(dimension);
    if (name === null || dimension === "none" || (dimension === "tag" && view.tag === "")) return [];
    return [{ value: name, label: dimension === "tag" ? view.tag : t(`usage.by.${dimension}`) }];
  });
  return (
    <Popover opened={opened} onChange={setOpened} trapFocus position="bottom-start" shadow="md">
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconFilterPlus size={15} />}
          onClick={() => setOpened((before) => !before)}
        >
          {t("usage.filters.add")}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          <Select
            label={t("usage.filters.field")}
            data={fields}
            value={field}
            onChange={(value) => {
              setField(filterNames.find((each) => each === value) ?? "model");
              setText("");
            }}
            allowDeselect={false}
            comboboxProps={{ withinPortal: false }}
          />
          <Select
            key={field}
            label={t("usage.filters.value")}
            data={(values.data?.data ?? []).map((row) => ({ value: row.id, label: rowName(row, by) }))}
            value={null}
            searchable
            searchValue={text}
            onSearchChange={setText}
            filter={({ options }) => options}
            onChange={(value) => {
              if (value === null) return;
              change({ [field]: value });
              setText("");
              setOpened(false);
            }}
            comboboxProps={{ withinPortal: false }}
          />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
