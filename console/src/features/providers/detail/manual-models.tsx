import { Button, Group, Stack } from "@mantine/core";
import type { AnswerOf } from "@sluice/contract";
import { IconPlus } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { t } from "../../../language/areas/providers.ts";
import { afterCatalogChange } from "../../catalog/catalog-routes.ts";
import type { ModelType } from "../../catalog/price-words.ts";
import { useModels } from "../../catalog/use-models.ts";
import { effectOf } from "./import-choice.ts";
import { type Line, ManualLine } from "./manual-line.tsx";

interface ManualModelsProps {
  readonly provider: string;
  /** Model types that the provider type supports; the first is the default. */
  readonly types: readonly ModelType[];
  readonly onDone: (result: AnswerOf<"providers.import">) => void;
}

/** Models entered manually: the upstream name and the name for clients. */
export function ManualModels({ provider, types, onDone }: ManualModelsProps) {
  const first = types[0] ?? "chat";
  const emptyLine = (key: number): Line => ({ key, upstreamModel: "", name: "", type: first });
  const [lines, setLines] = useState<readonly Line[]>(() => [emptyLine(0)]);
  const [isAsked, setIsAsked] = useState(false);
  const models = useModels();
  const act = useAct("providers.import", {
    invalidates: afterCatalogChange,
    inline: true,
    onDone: (result) => {
      setLines([emptyLine(0)]);
      setIsAsked(false);
      onDone(result);
    },
  });
  const filled = lines.filter((line) => line.upstreamModel.trim() !== "").map(completed);
  const effects = new Map(filled.map((line) => [line.key, effectOf(provider, line.upstreamModel, line, models)]));
  const isWrong = [...effects.values()].some((effect) => effect.tone === "wrong");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setIsAsked(true);
    if (filled.length === 0 || isWrong) return;
    const wanted = filled.map(({ upstreamModel, name, type }) => ({ upstream_model: upstreamModel, name, type }));
    act.mutate({ params: { provider }, body: { models: wanted } });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        {lines.map((line, place) => (
          <ManualLine
            key={line.key}
            line={line}
            place={place + 1}
            types={types}
            effect={effects.get(line.key)}
            isMissing={isAsked && filled.length === 0 && place === 0}
            onChange={(part) => setLines(lines.map((each) => (each.key === line.key ? { ...each, ...part } : each)))}
            onRemove={lines.length === 1 ? null : () => setLines(lines.filter((each) => each.key !== line.key))}
          />
        ))}
        {act.error !== null && <ProblemAlert problem={act.error} />}
        <Group justify="space-between" gap="xs">
          <Button
            variant="default"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => setLines([...lines, emptyLine(Math.max(...lines.map((line) => line.key)) + 1)])}
          >
            {t("providers.manual.add")}
          </Button>
          <Button type="submit" loading={act.isPending}>
            {t("providers.manual.create", { count: filled.length })}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function completed(line: Line): Line {
  const upstreamModel = line.upstreamModel.trim();
  return { ...line, upstreamModel, name: line.name.trim() || upstreamModel };
}
