import { Badge, Button, Group, Loader, Paper, Stack, Text, TextInput, Title, UnstyledButton } from "@mantine/core";
import type { ModelAnswer, ModelListAnswer } from "@sluice/contract";
import { useState } from "react";
import { ProblemAlert } from "../client/problem-alert.tsx";
import type { Loaded } from "../client/use-loaded.ts";

/** More than this and a filter helps. */
const fewModels = 8;

interface ModelListProps {
  readonly models: Loaded<ModelListAnswer>;
  readonly chosen: string | null;
  readonly onChoose: (model: string) => void;
  readonly onLeave: () => void;
}

export function ModelList({ models, chosen, onChoose, onLeave }: ModelListProps) {
  const [filter, setFilter] = useState("");
  const all = models.value?.data ?? [];
  const shown = all.filter((model) => model.id.toLowerCase().includes(filter.trim().toLowerCase()));
  return (
    <Paper withBorder p="md" className="card" component="section" aria-labelledby="models-title">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4" id="models-title">
            Models
          </Title>
          {models.value !== null && (
            <Text size="sm" c="dimmed">
              {all.length}
            </Text>
          )}
        </Group>
        {models.problem !== null && <ProblemAlert problem={models.problem} onRetry={models.reload} />}
        {models.problem?.code.endsWith("api_key") === true && (
          <Button variant="default" onClick={onLeave}>
            Use another key
          </Button>
        )}
        {models.loading && models.value === null && <Loader size="sm" aria-label="Loading models" />}
        {models.value !== null && all.length === 0 && (
          <Text size="sm">This key may use no model. An administrator can grant some to its group.</Text>
        )}
        {all.length > fewModels && (
          <TextInput
            aria-label="Filter models"
            placeholder="Filter"
            value={filter}
            onChange={(event) => setFilter(event.currentTarget.value)}
          />
        )}
        <ul className="models">
          {shown.map((model) => (
            <li key={model.id}>
              <ModelRow model={model} chosen={model.id === chosen} onChoose={onChoose} />
            </li>
          ))}
        </ul>
        {all.length > 0 && shown.length === 0 && <Text size="sm">No model has this in its name.</Text>}
      </Stack>
    </Paper>
  );
}

interface ModelRowProps {
  readonly model: ModelAnswer;
  readonly chosen: boolean;
  readonly onChoose: (model: string) => void;
}

function ModelRow({ model, chosen, onChoose }: ModelRowProps) {
  const words = (
    <Group justify="space-between" wrap="nowrap" gap="sm">
      <div className="grow">
        <Text size="sm" fw={600} className="break">
          {model.id}
        </Text>
        <Text size="xs" c="dimmed" className="break">
          {model.owned_by}
        </Text>
      </div>
      <Badge variant="default" size="sm">
        {model.type}
      </Badge>
    </Group>
  );
  if (model.type !== "chat") return <div className="model">{words}</div>;
  return (
    <UnstyledButton className="model" aria-pressed={chosen} onClick={() => onChoose(model.id)}>
      {words}
    </UnstyledButton>
  );
}
