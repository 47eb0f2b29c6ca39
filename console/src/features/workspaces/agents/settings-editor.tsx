import { Button, Group, SimpleGrid, Stack, Text, Textarea } from "@mantine/core";
import { checkAgentSettings } from "@sluice/contract";
import { ConfirmButton } from "../../../components/confirm-button.tsx";
import { DiffView } from "../../../components/diff-view.tsx";
import { FormProblem } from "../../../components/form-problem.tsx";
import { t } from "../../../language/areas/agents.ts";
import { useSession } from "../../../session/session-context.tsx";
import { Overtaken } from "./overtaken.tsx";
import { Remarks } from "./remarks.tsx";
import { textOf } from "./settings-draft.ts";
import { SettingsForm } from "./settings-form.tsx";
import type { GroupParams, SettingsNow } from "./settings-routes.ts";
import { useSettingsChange } from "./use-settings-change.ts";
import { useSettingsDraft } from "./use-settings-draft.ts";

interface SettingsEditorProps {
  readonly params: GroupParams;
  readonly now: SettingsNow;
  readonly mayChange: boolean;
}

/** A form and a JSON editor for the same settings, validated while typing. */
export function SettingsEditor({ params, now, mayChange }: SettingsEditorProps) {
  const { answer } = useSession();
  const draft = useSettingsDraft(now);
  const { base, text, typed, known, parsed, begin, overtaken } = draft;
  const { settings: saved, checksum: replaces } = base;
  const change = useSettingsChange({
    done: (after) => (after.version === null ? t("agents.removed") : t("agents.saved", { version: after.version })),
    onDone: (after) => begin(after),
  });
  const { errors, warnings } = checkAgentSettings(parsed ?? {});
  const same = parsed !== null && (saved === null ? text.trim() === "" : textOf(parsed) === textOf(saved));
  return (
    <Stack gap="md">
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <SettingsForm
          settings={known}
          onChange={(next) => typed(textOf(next))}
          disabled={!mayChange || parsed === null}
          baseUrl={answer.public_url}
        />
        <Stack gap="xs">
          <Textarea
            label={t("agents.json")}
            description={t("agents.jsonHelp")}
            placeholder={t("agents.jsonNone")}
            value={text}
            onChange={(event) => typed(event.currentTarget.value)}
            error={parsed === null ? t("agents.notJson") : null}
            disabled={!mayChange}
            autosize
            minRows={18}
            maxRows={40}
            spellCheck={false}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
          />
        </Stack>
      </SimpleGrid>
      <Remarks color="red" title={t("agents.remarks.errors")} remarks={errors} />
      <Remarks color="yellow" title={t("agents.remarks.warnings")} remarks={warnings} />
      {mayChange && (
        <>
          {!same && parsed !== null && (
            <div>
              <Text size="sm" fw={600} mb={4}>
                {t("agents.changes")}
              </Text>
              <DiffView before={saved ?? {}} after={parsed} label={t("agents.changes")} />
            </div>
          )}
          {overtaken ? (
            <Overtaken
              base={base}
              now={now}
              onKeep={() => {
                change.reset();
                draft.keep();
              }}
              onTake={() => {
                change.reset();
                begin(now);
              }}
            />
          ) : (
            <FormProblem problem={change.error} />
          )}
          <Group justify="flex-end">
            {saved !== null && (
              <ConfirmButton
                title={t("agents.removeTitle")}
                verb={t("agents.remove")}
                onConfirm={async () => {
                  await change.mutateAsync({ params, body: { settings: null, replaces } });
                }}
              >
                {t("agents.removeHelp")}
              </ConfirmButton>
            )}
            <Button
              loading={change.isPending}
              disabled={parsed === null || same || overtaken || errors.length > 0}
              onClick={() => parsed !== null && change.mutate({ params, body: { settings: { ...parsed }, replaces } })}
            >
              {t("agents.save")}
            </Button>
          </Group>
        </>
      )}
    </Stack>
  );
}
