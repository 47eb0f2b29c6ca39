import { Button, Code, Paper, PasswordInput, Stack, Text, Title } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { getModels } from "../client/call.ts";
import { asProblem, Problem } from "../client/problem.ts";
import { ProblemAlert } from "../client/problem-alert.tsx";

/** Asks for an API key and tries it before it is taken. */
export function KeyForm({ onKey }: { readonly onKey: (key: string) => void }) {
  const [key, setKey] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [trying, setTrying] = useState(false);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const secret = key.trim();
    setTrying(true);
    setProblem(null);
    try {
      // Only what can stand in a header is a key; anything else would fail in words nobody understands.
      if (!/^[\x21-\x7e]+$/.test(secret))
        throw new Problem("invalid_api_key", "A key has no spaces or accented letters.");
      await getModels(secret, AbortSignal.timeout(30_000));
      onKey(secret);
    } catch (thrown) {
      setProblem(asProblem(thrown));
      setTrying(false);
    }
  };

  return (
    <Paper withBorder p="lg" className="narrow card">
      <form onSubmit={submit}>
        <Stack gap="md">
          <div>
            <Title order={2} size="h3">
              Try a key
            </Title>
            <Text size="sm" c="dimmed">
              See which models it may use, talk to them, and read what it has used. The key stays in this tab.
            </Text>
          </div>
          <PasswordInput
            label="API key"
            description={
              <>
                <Code>npm start</Code> prints a working one.
              </>
            }
            placeholder="sk-sluice-…"
            autoComplete="off"
            spellCheck={false}
            required
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
          />
          {problem !== null && <ProblemAlert problem={problem} />}
          <Button type="submit" loading={trying}>
            Use this key
          </Button>
        </Stack>
      </form>
    </Paper>
  );
}
