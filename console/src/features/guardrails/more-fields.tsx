import { Accordion, Checkbox, Group, MultiSelect, NumberInput, Select, Stack } from "@mantine/core";
import { type GuardrailPlace, guardrailBounds, guardrailPlaces, guardrailSides } from "@sluice/contract/words";
import { t } from "../../language/areas/guardrails.ts";
import { type GuardrailFieldsProps, onErrorOf } from "./guardrail-draft.ts";

const places = guardrailPlaces.map((place) => ({ value: place, label: t(`guardrails.form.places.${place}`) }));
const failures = (["block", "pass"] as const).map((value) => ({
  value,
  label: t(`guardrails.form.failure.${value}`),
}));
const streams = (["window", "whole"] as const).map((value) => ({
  value,
  label: t(`guardrails.form.streams.${value}`),
}));

/** Options with defaults that fit most guardrails. */
export function MoreFields({ draft, onChange }: GuardrailFieldsProps) {
  return (
    <Accordion variant="contained">
      <Accordion.Item value="more">
        <Accordion.Control>{t("guardrails.form.more")}</Accordion.Control>
        <Accordion.Panel>
          <Stack gap="md">
            <Checkbox.Group
              label={t("guardrails.form.on")}
              value={[...draft.on]}
              onChange={(next) => onChange({ on: guardrailSides.filter((side) => next.includes(side)) })}
            >
              <Group gap="lg" mt="xs">
                {guardrailSides.map((side) => (
                  <Checkbox key={side} value={side} label={t(`guardrails.form.sides.${side}`)} />
                ))}
              </Group>
            </Checkbox.Group>
            <MultiSelect
              label={t("guardrails.form.at")}
              description={t("guardrails.form.atHelp")}
              data={places}
              value={[...draft.at]}
              onChange={(next) => onChange({ at: next as GuardrailPlace[] })}
              clearable
            />
            <Select
              label={t("guardrails.form.onError")}
              data={failures}
              value={onErrorOf(draft)}
              onChange={(next) => onChange({ onError: next === "pass" ? "pass" : "block" })}
              allowDeselect={false}
            />
            <Select
              label={t("guardrails.form.unreadable")}
              data={failures}
              value={draft.unreadable}
              onChange={(next) => onChange({ unreadable: next === "block" ? "block" : "pass" })}
              allowDeselect={false}
            />
            <Select
              label={t("guardrails.form.stream")}
              data={streams}
              value={draft.stream}
              onChange={(next) => onChange({ stream: next === "whole" ? "whole" : "window" })}
              allowDeselect={false}
            />
            <NumberInput
              label={t("guardrails.form.timeout")}
              min={guardrailBounds.timeoutMsMin}
              max={guardrailBounds.timeoutMsMax}
              allowDecimal={false}
              allowNegative={false}
              value={draft.timeoutMs ?? ""}
              onChange={(next) => onChange({ timeoutMs: typeof next === "number" ? next : null })}
            />
          </Stack>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}
