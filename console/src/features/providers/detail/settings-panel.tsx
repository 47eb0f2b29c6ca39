import { Button, Group, Stack, Text } from "@mantine/core";
import type { ConsoleProvider, ProviderKindForm } from "@sluice/contract";
import { type FormEvent, useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { ManagedByFileNote } from "../../../components/managed-by-file.tsx";
import { noticeDone } from "../../../components/notice.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/providers.ts";
import { useUrlChange } from "../../../routes/search.ts";
import { afterCatalogChange } from "../../catalog/catalog-routes.ts";
import { draftBlocked, draftOf, updateBody } from "../../catalog/provider-draft.ts";
import { ProviderFields } from "../../catalog/provider-fields.tsx";

interface SettingsPanelProps {
  readonly provider: ConsoleProvider;
  /** null: this version does not know the kind. */
  readonly form: ProviderKindForm | null;
}

/** How a provider is set up. Only what was changed is sent. */
export function SettingsPanel({ provider, form }: SettingsPanelProps) {
  // What is stored is asked for again and again: what is being typed stays, and is compared with it.
  const [draft, setDraft] = useState(() => draftOf(provider, form));
  const change = useUrlChange();
  const save = useAct("providers.update", {
    invalidates: afterCatalogChange,
    inline: true,
    onDone: (answer) => {
      setDraft(draftOf(answer, form));
      noticeDone(
        provider.has_api_key && !answer.has_api_key && draft.apiKey.how === "keep"
          ? t("providers.savedTheAddressChangedSo")
          : t("providers.saved"),
      );
    },
  });
  const locked = provider.managed_by === "file";
  const body = updateBody(draft, provider, form);
  const isChanged = Object.keys(body).length > 0;
  const blocked = form === null ? null : draftBlocked(draft, form, false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isChanged && blocked === null && !locked) save.mutate({ params: { provider: provider.id }, body });
  };
  return (
    <Section title={t("providers.settings")} description={t("providers.whatIsChangedCountsFor")}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md" maw="40rem">
          <ManagedByFileNote by={provider.managed_by} />
          {form === null && (
            <Text size="sm" c="dimmed">
              {t("providers.thisVersionOfTheGateway", { kind: provider.kind })}
            </Text>
          )}
          <ProviderFields
            draft={draft}
            onChange={setDraft}
            form={form}
            isNew={false}
            stored={{ apiKey: provider.has_api_key, baseUrl: provider.base_url, settings: provider.settings }}
            problem={save.error}
            disabled={locked}
          />
          {save.error !== null && <ProblemAlert problem={save.error} />}
          {!locked && (
            <Group justify="flex-end" gap="xs">
              {isChanged && blocked !== null && <span className="drawer-blocked">{blocked}</span>}
              {isChanged && (
                <Button variant="default" onClick={() => setDraft(draftOf(provider, form))}>
                  {t("providers.discard")}
                </Button>
              )}
              {!isChanged && (
                <Button variant="default" onClick={() => change({ tab: "test", run: "now" })}>
                  {t("providers.testIt")}
                </Button>
              )}
              <Button type="submit" disabled={!isChanged || blocked !== null} loading={save.isPending}>
                {t("providers.save")}
              </Button>
            </Group>
          )}
        </Stack>
      </form>
    </Section>
  );
}
