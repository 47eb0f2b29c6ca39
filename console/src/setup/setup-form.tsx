import { Button, Paper, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { setUp } from "../client/call.ts";
import { asProblem, type Problem } from "../client/problem.ts";
import { ProblemAlert } from "../client/problem-alert.tsx";

const passwordLengthMin = 12;

interface SetupFormProps {
  readonly token: string;
  readonly onDone: () => void;
}

/** The first administrator. Shown only when the page was opened with the set-up link. */
export function SetupForm({ token, onDone }: SetupFormProps) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [repeated, setRepeated] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [sending, setSending] = useState(false);
  const [tried, setTried] = useState(false);

  const tooShort = password.length < passwordLengthMin;
  const differs = password !== repeated;

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (tooShort || differs) return;
    setSending(true);
    setProblem(null);
    try {
      await setUp({ token, email, password });
      onDone();
    } catch (thrown) {
      setProblem(asProblem(thrown));
      setSending(false);
    }
  };

  return (
    <Paper withBorder p="lg" className="narrow card">
      <form onSubmit={submit}>
        <Stack gap="md">
          <div>
            <Title order={2} size="h3">
              Create the first administrator
            </Title>
            <Text size="sm" c="dimmed">
              This link works once. The password is stored only as a hash.
            </Text>
          </div>
          <TextInput
            label="E-mail address"
            type="email"
            autoComplete="username"
            required
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <PasswordInput
            label="Password"
            description={`At least ${passwordLengthMin} characters. A few words are easier to keep than signs.`}
            autoComplete="new-password"
            required
            maxLength={256}
            value={password}
            error={tried && tooShort ? `${passwordLengthMin - password.length} more characters are needed.` : null}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <PasswordInput
            label="Password again"
            autoComplete="new-password"
            required
            maxLength={256}
            value={repeated}
            error={tried && !tooShort && differs ? "The two passwords differ." : null}
            onChange={(event) => setRepeated(event.currentTarget.value)}
          />
          {problem !== null && <ProblemAlert problem={problem} />}
          <Button type="submit" loading={sending}>
            Create administrator
          </Button>
        </Stack>
      </form>
    </Paper>
  );
}
