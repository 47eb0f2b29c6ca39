import { Autocomplete, Button, Group, Loader, Stack, Text } from "@mantine/core";
import type { ConsoleProvider } from "@sluice/contract";
import { useEffect, useMemo, useRef, useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { useCall } from "../../../api/use-call.ts";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/providers.ts";
import { useUrlChange, useUrlText } from "../../../routes/search.ts";
import { TestVerdict } from "./test-verdict.tsx";

/** Tests the provider with small requests, and advises on failures. */
export function TestPanel({ provider }: { readonly provider: ConsoleProvider }) {
  const [model, setModel] = useState("");
  const change = useUrlChange();
  const test = useAct("providers.test", { inline: true, invalidates: ["providers.show", "providers.list"] });
  const models = useUpstreamModels(provider.id);
  const run = () => {
    const named = model.trim();
    test.mutate({ params: { provider: provider.id }, body: named === "" ? {} : { upstream_model: named } });
  };
  useRunFromUrl(run);
  return (
    <Section title={t("providers.tabs.test")} description={t("providers.test.help")}>
      <Stack gap="md">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            run();
          }}
        >
          <Group gap="xs" align="flex-end">
            <Autocomplete
              label={t("providers.upstreamModel")}
              placeholder={t("providers.test.any")}
              data={models}
              limit={50}
              maxLength={256}
              value={model}
              onChange={setModel}
              className="filter grow-to-22"
            />
            <Button type="submit" size="sm" loading={test.isPending}>
              {t("providers.test.run")}
            </Button>
          </Group>
        </form>
        <div aria-live="polite">
          {test.isPending && (
            <Group gap="xs">
              <Loader size="xs" aria-hidden />
              <Text size="sm" c="dimmed">
                {t("providers.test.running", { id: provider.id })}
              </Text>
            </Group>
          )}
          {test.error !== null && <ProblemAlert problem={test.error} />}
          {test.data !== undefined && !test.isPending && <TestVerdict kind={provider.kind} answer={test.data} />}
        </div>
        {test.data?.ok === true && !test.isPending && (
          <Group gap="xs">
            <Text size="sm">{t("providers.test.next")}</Text>
            <Button variant="default" onClick={() => change({ tab: "import" })}>
              {t("providers.import.title")}
            </Button>
          </Group>
        )}
        {test.data?.ok === false && !test.isPending && (
          <Group gap="xs">
            <Button variant="default" onClick={() => change({ tab: "settings", retest: "1" })}>
              {t("providers.test.settings")}
            </Button>
          </Group>
        )}
      </Stack>
    </Section>
  );
}

/** Upstream models of the provider's deployments. */
function useUpstreamModels(provider: string): string[] {
  const models = useCall("models.list").data?.data;
  return useMemo(() => {
    const names = (models ?? []).flatMap((model) =>
      model.deployments.filter((each) => each.provider === provider).map((each) => each.upstream_model),
    );
    return [...new Set(names)].toSorted();
  }, [models, provider]);
}

/** `run=now` in the URL runs the test once. It is then removed, so that a reload does not run it again. */
function useRunFromUrl(run: () => void): void {
  const [urlRun, setUrlRun] = useUrlText("run");
  const done = useRef(false);
  useEffect(() => {
    if (urlRun !== "now" || done.current) return;
    done.current = true;
    setUrlRun("");
    run();
  });
}
