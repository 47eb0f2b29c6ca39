import { ActionIcon, Button, Group, Select, Stack, TextInput } from "@mantine/core";
import type { AnswerOf } from "@sluice/contract";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { t } from "../../../language/areas/providers.ts";
import { afterCatalogChange } from "../../catalog/catalog-routes.ts";
import { type ModelType, modelTypes } from "../../catalog/price-words.ts";
import { useModels } from "../../catalog/use-models.ts";
import { effectOf } from "./import-choice.ts";
import { typeChoices } from "./import-row.tsx";

interface ManualModelsProps {
  readonly provider: string;
  /** What the kind can make; the first is meant unless another is chosen. */
  readonly types: readonly ModelType[];
  readonly onDone: (result: AnswerOf<"providers.import">) => void;
}

interface Line {
  readonly key: number;
  readonly upstreamModel: string;
  /** Empty: as upstream. */
  readonly name: string;
  readonly type: ModelType;
}

/** Models that are typed: what the upstream calls them, and what callers do. */
export function ManualModels({ provider, types, onDone }: ManualModelsProps) {
  const first = types[0] ?? "chat";
  const emptyLine = (key: number): Line => ({ key, upstreamModel: "", name: "", type: first });
  const [lines, setLines] = useState<readonly Line[]>(() => [emptyLine(0)]);
  const models = useModels();
  const act = useAct("providers.import", {
    invalidates: afterCatalogChange,
    inline: true,
    onDone: (result) => {
      setLines([emptyLine(0)]);
      onDone(result);
    },
  });
  const filled = lines.filter((line) => line.upstreamModel.trim() !== "").map(completed);
  const effects = new Map(filled.map((line) => [line.key, effectOf(provider, line.upstreamModel, line, models)]));
  const isWrong = [...effects.values()].some((effect) => effect.tone === "wrong");
  const change = (key: number, part: Partial<Line>) =>
    setLines(lines.map((line) => (line.key === key ? { ...line, ...part } : line)));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (filled.length === 0 || isWrong) return;
    const wanted = filled.map(({ upstreamModel, name, type }) => ({ upstream_model: upstreamModel, name, type }));
    act.mutate({ params: { provider }, body: { models: wanted } });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {lines.map((line, place) => {
          const effect = effects.get(line.key);
          return (
            <Group key={line.key} gap="xs" align="flex-start" className="manual-line">
              <TextInput
                label={t("providers.upstreamModel")}
                placeholder={t("providers.asTheProviderCallsIt")}
                maxLength={256}
                autoComplete="off"
                spellCheck={false}
                className="manual-name"
                value={line.upstreamModel}
                onChange={(event) => change(line.key, { upstreamModel: event.currentTarget.value })}
              />
              <TextInput
                label={t("providers.nameHere")}
                placeholder={line.upstreamModel.trim() || t("providers.theSame")}
                maxLength={256}
                autoComplete="off"
                spellCheck={false}
                className="manual-name"
                value={line.name}
                onChange={(event) => change(line.key, { name: event.currentTarget.value })}
                error={effect?.tone === "wrong" ? effect.words : undefined}
                description={effect === undefined || effect.tone === "wrong" ? undefined : effect.words}
                inputWrapperOrder={["label", "input", "description", "error"]}
              />
              <Select
                label={t("providers.type")}
                w={120}
                data={typeChoices.filter((choice) => types.includes(choice.value))}
                allowDeselect={false}
                value={line.type}
                onChange={(value) => change(line.key, { type: modelTypes.find((type) => type === value) ?? line.type })}
              />
              <ActionIcon
                variant="subtle"
                color="gray"
                size="lg"
                mt={22}
                className="bare-when-disabled"
                disabled={lines.length === 1}
                aria-label={`Remove line ${place + 1}`}
                onClick={() => setLines(lines.filter((each) => each.key !== line.key))}
              >
                <IconTrash size={16} />
              </ActionIcon>
            </Group>
          );
        })}
        {act.error !== null && <ProblemAlert problem={act.error} />}
        <Group justify="space-between" gap="xs">
          <Button
            variant="default"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => setLines([...lines, emptyLine(Math.max(...lines.map((line) => line.key)) + 1)])}
          >
            {t("providers.addALine")}
          </Button>
          <Button type="submit" loading={act.isPending} disabled={filled.length === 0 || isWrong}>
            {filled.length > 1 ? t("providers.makeModels", { length: filled.length }) : t("providers.makeModel")}
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
