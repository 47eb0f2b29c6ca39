import { Alert, Anchor, Button, Code, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { FormProblem } from "../../components/form-problem.tsx";
import { wrongField } from "../../components/wrong-field.ts";
import { Rich, t } from "../../language/areas/sign-in.ts";
import { useArrival } from "../../session/arrival.tsx";
import { NewPassword, noPassword, passwordReady } from "../../session/new-password.tsx";
import { useSessionAnswer } from "../../session/session-context.tsx";
import { post, signInWithPassword } from "../../session/sign-in-calls.ts";
import { useDoing } from "../../session/use-doing.ts";
import { Card } from "./card.tsx";

interface SetupViewProps {
  /** null: the page was opened without the link. */
  readonly token: string | null;
  readonly onSignedIn: () => void;
}

/** Creates the first administrator. Requires the link that the gateway prints at its start, which works once. */
export function SetupView({ token, onSignedIn }: SetupViewProps) {
  const { setup_needed: needed } = useSessionAnswer();
  const { leave } = useArrival();
  if (!needed) {
    return (
      <Card title={t("signIn.setup.doneTitle")}>
        <Alert variant="light">{t("signIn.setup.doneHelp")}</Alert>
        <Button size="sm" onClick={leave}>
          {t("signIn.setup.continue")}
        </Button>
      </Card>
    );
  }
  if (token === null) {
    return (
      <Card
        title={t("signIn.setup.noneTitle")}
        description={<Rich text="signIn.setup.noneHelp" tags={{ code: (inside) => <Code>{inside}</Code> }} />}
        foot={
          <Rich
            text="signIn.setup.foot"
            tags={{
              link: (inside) => (
                <Anchor href="/docs" size="xs" underline="always">
                  {inside}
                </Anchor>
              ),
            }}
          />
        }
      >
        <Alert variant="light">{t("signIn.setup.lost")}</Alert>
      </Card>
    );
  }
  return <SetupForm token={token} onSignedIn={onSignedIn} />;
}

function SetupForm({ token, onSignedIn }: { readonly token: string; readonly onSignedIn: () => void }) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState(noPassword);
  const [tried, setTried] = useState(false);
  const { run, doing, problem } = useDoing();
  const { leave } = useArrival();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (!passwordReady(password)) return;
    const made = await run(async () => {
      await post("/api/setup", { token, email: email.trim(), password: password.password });
      await signInWithPassword(email.trim(), password.password);
    });
    if (!made) return;
    leave();
    onSignedIn();
  };
  return (
    <Card title={t("signIn.setup.title")} description={t("signIn.setup.help")}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label={t("signIn.email")}
            type="email"
            autoComplete="username"
            required
            withAsterisk={false}
            maxLength={254}
            error={wrongField(problem, "email")}
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <NewPassword value={password} onChange={setPassword} tried={tried} />
          <FormProblem problem={problem} />
          <Button type="submit" size="sm" loading={doing}>
            {t("signIn.setup.do")}
          </Button>
        </Stack>
      </form>
    </Card>
  );
}
