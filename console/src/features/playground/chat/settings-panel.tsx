import { Button, Group, NumberInput, Stack, TagsInput, Textarea } from "@mantine/core";
import { NumberField } from "../../../components/number-field.tsx";
import { t } from "../../../language/areas/playground.ts";
import { MoreField } from "../more-field.tsx";
import type { ChatSettings } from "./conversation.ts";
import { plainSettings } from "./conversation.ts";
import { sampleTools } from "./tools.ts";

interface SettingsPanelProps {
  readonly value: ChatSettings;
  readonly onChange: (settings: ChatSettings) => void;
  readonly toolsProblem: string | null;
  readonly moreProblem: string | null;
}

export function SettingsPanel({ value, onChange, toolsProblem, moreProblem }: SettingsPanelProps) {
  const set = (change: Partial<ChatSettings>) => onChange({ ...value, ...change });
  const untouched = JSON.stringify(value) === JSON.stringify(plainSettings);
  return (
    <Stack gap="sm">
      <Textarea
        label={t("playground.settings.system")}
        placeholder={t("playground.settings.systemSample")}
        autosize
        minRows={2}
        maxRows={10}
        value={value.system}
        onChange={(event) => set({ system: event.currentTarget.value })}
      />
      <Group grow gap="xs" align="flex-start">
        <NumberField
          label={t("playground.settings.temperature")}
          placeholder={t("playground.settings.default")}
          min={0}
          max={2}
          step={0.1}
          decimalScale={2}
          value={value.temperature}
          onChange={(temperature) => set({ temperature })}
        />
        <NumberInput
          label={t("playground.settings.maxTokens")}
          placeholder={t("playground.settings.default")}
          min={1}
          step={256}
          allowDecimal={false}
          value={value.maxTokens ?? ""}
          onChange={(next) => set({ maxTokens: numberOrNull(next) })}
        />
      </Group>
      <TagsInput
        label={t("playground.settings.stop")}
        placeholder={value.stop.length === 0 ? t("playground.settings.stopHelp") : ""}
        maxTags={4}
        value={[...value.stop]}
        onChange={(stop) => set({ stop })}
      />
      <Textarea
        label={t("playground.settings.tools")}
        description={t("playground.settings.toolsHelp")}
        placeholder="[ … ]"
        autosize
        minRows={2}
        maxRows={14}
        className="written"
        spellCheck={false}
        value={value.tools}
        error={toolsProblem}
        onChange={(event) => set({ tools: event.currentTarget.value })}
      />
      {value.tools.trim() === "" && (
        <Button variant="subtle" size="compact-xs" className="fit" onClick={() => set({ tools: sampleTools })}>
          {t("playground.settings.toolsSample")}
        </Button>
      )}
      <MoreField
        placeholder={'{ "reasoning_effort": "low" }'}
        value={value.more}
        error={moreProblem}
        onChange={(more) => set({ more })}
      />
      {!untouched && (
        <Button variant="subtle" size="compact-xs" className="fit" onClick={() => onChange(plainSettings)}>
          {t("playground.settings.reset")}
        </Button>
      )}
    </Stack>
  );
}

function numberOrNull(value: string | number): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
