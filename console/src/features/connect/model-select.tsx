import { Select } from "@mantine/core";
import { t } from "../../language/areas/connect.ts";
import type { AgentModels } from "./agent-models.ts";

interface ModelSelectProps {
  /** The program's name; null: any. */
  readonly agent: string | null;
  readonly models: AgentModels;
  readonly value: string;
  readonly onChange: (model: string | null) => void;
}

/** The model for the snippets; the best matches for the program come first. */
export function ModelSelect({ agent, models: { fit, others }, value, onChange }: ModelSelectProps) {
  const groups = [
    { group: agent === null ? "" : t("connect.fit", { agent }), items: [...fit] },
    { group: t("connect.others"), items: [...others] },
  ].filter(({ items }) => items.length > 0);
  if (groups.length === 0) return null;
  return (
    <Select
      label={t("connect.model")}
      description={agent === null ? undefined : t("connect.modelHelp", { agent })}
      data={agent === null ? [...fit] : groups}
      value={value}
      onChange={onChange}
      allowDeselect={false}
      searchable={fit.length + others.length > 8}
      limit={100}
      maw={420}
    />
  );
}
