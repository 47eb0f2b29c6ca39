import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import type { ConsoleProvider, ProviderKindForm } from "@sluice/contract";
import { IconUsers } from "@tabler/icons-react";
import { type FormEvent, useEffect, useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { FormProblem } from "../../../components/form-problem.tsx";
import { LeaveGuard } from "../../../components/leave-guard.tsx";
import { ManagedByFileNote } from "../../../components/managed-by-file.tsx";
import { noticeDone } from "../../../components/notice.tsx";
import { Section } from "../../../components/section.tsx";
import { t as modelWords } from "../../../language/areas/models.ts";
import { t } from "../../../language/areas/providers.ts";
import { useUrlChange, useUrlText } from "../../../routes/search.ts";
import { afterCatalogChange } from "../../catalog/catalog-routes.ts";
import { draftFaults, draftOf, type ProviderDraft, updateBody } from "../../catalog/provider-draft.ts";
import { ProviderFields } from "../../catalog/provider-fields.tsx";
import { useFaults } from "../../catalog/use-faults.ts";

interface SettingsPanelProps {
  readonly provider: ConsoleProvider;
  /** null: this version does not know the kind. */
  readonly form: ProviderKindForm | null;
}

/** The settings of a provider. Only changed fields are sent. */
export function SettingsPanel({ provider, form }: SettingsPanelProps) {
  // The provider is refetched regularly, and others may change it. The draft is stored with the version that it is based on, so that
  // only fields changed here are sent. Without a draft, the stored values are shown.
  const [work, setWork] = useState<{ readonly draft: ProviderDraft; readonly from: ConsoleProvider } | null>(null);
  const stored = draftOf(provider, form);
  const from = work?.from ?? provider;
  const draft = work?.draft ?? stored;
  const change = useUrlChange();
  // Set by a failed test: saving the fix runs it again.
  const [retest] = useUrlText("retest");
  const [fixed, setFixed] = useState(false);
  const save = useAct("providers.update", {
    invalidates: afterCatalogChange,
    shownBy: "providers.show",
    inline: true,
    onDone: (answer) => {
      setWork(null);
      noticeDone(
        provider.has_api_key && !answer.has_api_key && draft.apiKey.how === "keep"
          ? t("providers.settings.savedWithoutKey")
          : t("providers.settings.saved"),
      );
      setFixed(retest !== "");
    },
  });
  const locked = provider.managed_by !== "console";
  const body = updateBody(draft, from, form);
  const isChanged = Object.keys(body).length > 0;
  const isOvertaken = isChanged && JSON.stringify(draftOf(from, form)) !== JSON.stringify(stored);
  useEffect(() => {
    if (fixed && !isChanged) change({ tab: "test", run: "now", retest: "" });
  }, [fixed, isChanged, change]);
  const faults = useFaults(form === null ? {} : draftFaults(draft, form, provider), save.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isChanged && !locked && faults.check()) save.mutate({ params: { provider: provider.id }, body });
  };
  const discard = () => {
    save.reset();
    setWork(null);
  };
  return (
    <Section title={t("providers.tabs.settings")} description={t("providers.settings.help")}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md" maw="40rem">
          <ManagedByFileNote by={provider.managed_by} />
          {isOvertaken && (
            <Alert
              color="yellow"
              variant="light"
              icon={<IconUsers size={16} />}
              title={modelWords("models.conflict.title")}
            >
              {modelWords("models.conflict.help")}
            </Alert>
          )}
          {form === null && (
            <Text size="sm" c="dimmed">
              {t("providers.settings.unknownKind", { kind: provider.kind })}
            </Text>
          )}
          <ProviderFields
            draft={draft}
            onChange={(next) =>
              setWork(Object.keys(updateBody(next, from, form)).length > 0 ? { draft: next, from } : null)
            }
            form={form}
            isNew={false}
            stored={{ apiKey: provider.has_api_key, baseUrl: provider.base_url, settings: provider.settings }}
            fault={faults.of}
            disabled={locked}
          />
          <FormProblem problem={save.error} />
          {!locked && (
            <Group justify="flex-end" gap="xs">
              {isChanged && (
                <Button variant="default" onClick={discard}>
                  {t("providers.settings.discard")}
                </Button>
              )}
              {!isChanged && (
                <Button variant="default" onClick={() => change({ tab: "test", run: "now" })}>
                  {t("providers.settings.test")}
                </Button>
              )}
              <Button type="submit" disabled={!isChanged} loading={save.isPending}>
                {retest === "" ? t("providers.settings.save") : t("providers.add.save")}
              </Button>
            </Group>
          )}
        </Stack>
      </form>
      <LeaveGuard dirty={isChanged && !locked} openedBy={["tab"]} />
    </Section>
  );
}
