import { Select } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { rowName } from "./row-names.ts";

const hourMs = 3_600_000;
const yearMs = 366 * 24 * hourMs;
const valuesMax = 100;

interface TagSelectProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (tag: string) => void;
  readonly clearable?: boolean;
  /** Shows the label as a placeholder, as in a bar of filters. */
  readonly inBar?: boolean;
}

/** Chooses one of the tags of the last year. */
export function TagSelect({ label, value, onChange, clearable = false, inBar = false }: TagSelectProps) {
  const { path, none } = useWorkspace();
  const tags = useCall("usage.tags", { params: { workspace: path }, query: lastYear(), enabled: !none });
  const names = tags.data?.data ?? [];
  return (
    <Select
      {...(inBar ? { "aria-label": label, placeholder: label, className: "filter" } : { label, w: 150 })}
      data={value === "" || names.includes(value) ? names : [value, ...names]}
      value={value === "" ? null : value}
      onChange={(next) => onChange(next ?? "")}
      clearable={clearable}
      searchable={names.length > 8}
    />
  );
}

interface TagValueSelectProps extends TagSelectProps {
  readonly tag: string;
}

/** Chooses a value of a tag, or the calls without it (`-`): the most expensive ones of the last year. */
export function TagValueSelect({ tag, label, value, onChange, inBar = false }: TagValueSelectProps) {
  const { path } = useWorkspace();
  const rows = useCall("usage.rows", {
    params: { workspace: path },
    query: { ...lastYear(), by: "tag", tag, limit: valuesMax },
    enabled: tag !== "",
  });
  const found = (rows.data?.data ?? []).map((row) => ({ value: row.id, label: rowName(row, "tag") }));
  const isListed = value === "" || found.some((each) => each.value === value);
  return (
    <Select
      {...(inBar ? { "aria-label": label, placeholder: label, className: "filter" } : { label, w: 150 })}
      data={isListed ? found : [{ value, label: rowName({ id: value, label: value }, "tag") }, ...found]}
      value={value === "" ? null : value}
      onChange={(next) => onChange(next ?? "")}
      disabled={tag === ""}
      clearable
      searchable
    />
  );
}

/** Whole hours, so that the answer is cached for an hour. */
function lastYear() {
  const to = Math.ceil(Date.now() / hourMs) * hourMs;
  return { from: to - yearMs, to };
}
