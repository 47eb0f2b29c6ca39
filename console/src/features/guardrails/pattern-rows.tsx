import { ActionIcon, Button, Group, Input, Stack, TextInput } from "@mantine/core";
import { guardrailBounds } from "@sluice/contract/words";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import type { Problem } from "../../client/problem.ts";
import { wrongField } from "../../components/wrong-field.ts";
import { t } from "../../language/areas/guardrails.ts";
import type { PatternDraft } from "./guardrail-draft.ts";

interface PatternRowsProps {
  readonly patterns: readonly PatternDraft[];
  readonly onChange: (patterns: readonly PatternDraft[]) => void;
  readonly problem: Problem | null;
}

/** Named regular expressions. */
export function PatternRows({ patterns, onChange, problem }: PatternRowsProps) {
  const change = (id: number, changes: Partial<PatternDraft>) =>
    onChange(patterns.map((pattern) => (pattern.id === id ? { ...pattern, ...changes } : pattern)));
  const add = () => {
    const id = Math.max(-1, ...patterns.map((pattern) => pattern.id)) + 1;
    onChange([...patterns, { id, name: "", regex: "" }]);
  };
  return (
    <Input.Wrapper
      label={t("guardrails.form.patterns")}
      description={t("guardrails.form.patternsHelp")}
      labelElement="div"
      required
    >
      <Stack gap="xs" mt={6} role="group" aria-label={t("guardrails.form.patterns")}>
        {patterns.map(({ id, name, regex }, place) => (
          <Group key={id} gap={6} wrap="nowrap" align="flex-start">
            <TextInput
              aria-label={t("guardrails.form.patternName", { number: place + 1 })}
              placeholder={t("guardrails.form.patternNamePlaceholder")}
              w="35%"
              maxLength={40}
              spellCheck={false}
              value={name}
              error={wrongField(problem, `check.patterns.${place}.name`)}
              onChange={(event) => change(id, { name: event.currentTarget.value })}
            />
            <TextInput
              aria-label={t("guardrails.form.pattern", { number: place + 1 })}
              className="grow"
              maxLength={guardrailBounds.patternCharsMax}
              spellCheck={false}
              styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
              value={regex}
              error={wrongField(problem, `check.patterns.${place}.regex`)}
              onChange={(event) => change(id, { regex: event.currentTarget.value })}
            />
            <ActionIcon
              variant="default"
              size="lg"
              aria-label={t("guardrails.form.removePattern", { number: place + 1 })}
              disabled={patterns.length === 1}
              onClick={() => onChange(patterns.filter((pattern) => pattern.id !== id))}
            >
              <IconTrash size={15} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Button
          variant="default"
          size="compact-sm"
          className="fit"
          leftSection={<IconPlus size={13} aria-hidden />}
          disabled={patterns.length >= guardrailBounds.patternsMax}
          onClick={add}
        >
          {t("guardrails.form.addPattern")}
        </Button>
      </Stack>
    </Input.Wrapper>
  );
}
