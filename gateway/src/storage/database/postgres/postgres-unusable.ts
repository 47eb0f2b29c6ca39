/** PostgreSQL cannot be used as it is set up; the message is one line for a person, without user and password. */
export class PostgresUnusable extends Error {
  override readonly name = "PostgresUnusable";
}
