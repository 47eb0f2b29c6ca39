import { type ComboboxItem, MultiSelect, type OptionsFilter, Select } from "@mantine/core";
import { useMemo } from "react";
import { formatCount } from "../../client/format.ts";
import { t } from "../../language/areas/playground.ts";
import { foundModels, modelsShownMax } from "./found-models.ts";

interface ModelSelectProps {
  /** Names of the models that the key may call. */
  readonly models: readonly string[];
  readonly value: string | null;
  readonly loading: boolean;
  readonly onChange: (model: string) => void;
}

/** Selects the model. There may be thousands: only the first are rendered, and typing searches all. */
export function ModelSelect({ models, value, loading, onChange }: ModelSelectProps) {
  const filter = useMemo(() => filterOf(models, value), [models, value]);
  return (
    <Select
      label={t("playground.model")}
      data={[...models]}
      value={value}
      onChange={(next) => next !== null && onChange(next)}
      allowDeselect={false}
      disabled={models.length === 0}
      placeholder={loading ? t("playground.loading") : t("playground.modelNotFound")}
      nothingFoundMessage={t("playground.modelNotFound")}
      searchable={models.length > 8}
      filter={filter}
      maxLength={256}
      title={value ?? undefined}
    />
  );
}

interface CompareSelectProps {
  /** Names of the models to choose from. */
  readonly models: readonly string[];
  readonly value: readonly string[];
  readonly max: number;
  readonly onChange: (models: string[]) => void;
}

/** Selects the models that get the same messages, too. */
export function CompareSelect({ models, value, max, onChange }: CompareSelectProps) {
  const filter = useMemo(() => filterOf(models, null), [models]);
  return (
    <MultiSelect
      label={t("playground.compare.label")}
      placeholder={value.length === 0 ? t("playground.compare.none", { count: max }) : ""}
      data={[...models]}
      value={[...value]}
      onChange={onChange}
      maxValues={max}
      nothingFoundMessage={t("playground.modelNotFound")}
      searchable
      filter={filter}
    />
  );
}

function filterOf(models: readonly string[], value: string | null): OptionsFilter {
  return ({ search }) => {
    // The box contains the name of the selection, which is not a search.
    const found = foundModels(models, search === value ? "" : search);
    const options: ComboboxItem[] = found.slice(0, modelsShownMax).map((model) => ({ value: model, label: model }));
    if (found.length <= modelsShownMax) return options;
    const label = t("playground.modelsMore", { shown: formatCount(modelsShownMax), all: formatCount(found.length) });
    return [...options, { value: "", label, disabled: true }];
  };
}
