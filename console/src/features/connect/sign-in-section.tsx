import { Alert, Code, Stack } from "@mantine/core";
import { CodeBlock } from "../../components/code-block.tsx";
import { Section } from "../../components/section.tsx";
import { Rich, t } from "../../language/areas/connect.ts";
import type { AgentId } from "./agent-models.ts";
import { agentTexts, takesSignIn } from "./setup-texts.ts";

interface SignInSectionProps {
  readonly agent: AgentId;
  readonly baseUrl: string;
  readonly model: string;
}

/** The way without a key: the agent signs in as the user, with the gateway's command line. */
export function SignInSection({ agent, baseUrl, model }: SignInSectionProps) {
  const code = (inside: React.ReactNode) => <Code fz="xs">{inside}</Code>;
  const snippet = agentTexts(baseUrl, model).find(({ id }) => id === agent);
  return (
    <Section title={t("connect.agents")} description={<Rich text="connect.agentsHelp" tags={{ code }} />}>
      {!takesSignIn(baseUrl) ? (
        <Alert color="yellow">{t("connect.plainHttp")}</Alert>
      ) : (
        <Stack gap="sm">
          {snippet?.parts.map((part) => (
            <div key={part.where}>
              <div className="snippet-where">{part.where}</div>
              <CodeBlock code={part.code} label={`${snippet.title}: ${part.where}`} />
            </div>
          ))}
        </Stack>
      )}
    </Section>
  );
}
