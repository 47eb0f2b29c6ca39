import { Anchor, Button, Skeleton, Stack, Text } from "@mantine/core";
import type { AnswerOf } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { useCall } from "../../api/use-call.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { CopyText } from "../../components/copy-button.tsx";
import { Facts } from "../../components/facts.tsx";
import { When } from "../../components/figures.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { Rich, t } from "../../language/areas/scim.ts";
import { useUrlText } from "../../routes/search.ts";
import { CreateScimToken } from "./create-scim-token.tsx";
import { NewToken } from "./new-token.tsx";

/** The SCIM settings for the directory, and the sync status. */
export function ScimSection() {
  const facts = useCall("settings.scim");
  const [, setCreate] = useUrlText("create");
  return (
    <Section
      title={t("scim.title")}
      description={t("scim.help")}
      actions={<Button onClick={() => setCreate("scim")}>{t("scim.create")}</Button>}
    >
      {facts.error !== null && facts.data === undefined ? (
        <ProblemAlert problem={facts.error} onRetry={() => void facts.refetch()} />
      ) : facts.data === undefined ? (
        <Skeleton height={90} />
      ) : (
        <Stack gap="sm">
          <ScimFacts facts={facts.data} />
          {facts.data.tokens > 0 && (
            <Text fz="sm" c="dimmed">
              <Rich
                text="scim.where"
                tags={{
                  tokens: (inside) => (
                    <Anchor
                      fz="sm"
                      renderRoot={(props) => <Link to="/settings" search={{ tab: "tokens" }} {...props} />}
                    >
                      {inside}
                    </Anchor>
                  ),
                }}
              />
            </Text>
          )}
        </Stack>
      )}
      <NewToken
        kind="scim"
        form={(handlers) => <CreateScimToken {...handlers} />}
        title={(name) => t("scim.secret", { name })}
      >
        {() => (
          <Stack gap="sm">
            <Text fz="sm">{t("scim.enter")}</Text>
            <CodeBlock code={facts.data?.base_url ?? ""} label={t("scim.baseUrl")} wrap />
          </Stack>
        )}
      </NewToken>
    </Section>
  );
}

function ScimFacts({ facts }: { readonly facts: AnswerOf<"settings.scim"> }) {
  const { base_url, users, inactive, groups, tokens, last_request_at } = facts;
  return (
    <Facts
      facts={[
        {
          name: t("scim.baseUrl"),
          value: <CopyText value={base_url} label={t("scim.copyBaseUrl")} />,
          wide: true,
        },
        {
          name: t("scim.users"),
          value: inactive === 0 ? t("scim.usersAll", { users }) : t("scim.usersSome", { users, inactive }),
        },
        { name: t("scim.groups"), value: groups },
        { name: t("scim.tokens"), value: tokens },
        {
          name: t("scim.lastRequest"),
          value: last_request_at === null ? t("scim.never") : <When at={last_request_at} />,
        },
      ]}
    />
  );
}
