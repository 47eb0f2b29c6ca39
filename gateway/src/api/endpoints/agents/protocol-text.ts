/** What `GET /protocol` answers. */
export const protocolText = `# Gateway protocol of coding agents, version 1

This gateway signs programs in as people (RFC 8628) and serves them as it serves callers with keys.

| endpoint | who | what |
|---|---|---|
| GET /.well-known/oauth-authorization-server | anybody | where the following are (RFC 8414) |
| POST /oauth/device_authorization | anybody | begins a sign-in: device_code, user_code, verification_uri, expires_in, interval |
| POST /oauth/token | a device | form: grant_type (device_code or refresh_token). Errors: authorization_pending, slow_down (429), access_denied, expired_token, invalid_grant (401) |
| POST /oauth/revoke | a device | form: token. Always 200 (RFC 7009) |
| POST /v1/messages, /v1/messages/count_tokens, and every other endpoint of /v1 | bearer | calls of models |
| GET /v1/models | bearer | the models that the person may call |
| GET /managed/settings | bearer | uuid, checksum, settings of the person's group, with an ETag; 304 for an equal If-None-Match; 404 where there are none |
| POST /v1/metrics, /v1/logs, /v1/traces | bearer | OTLP over HTTP: taken |
| GET /user/bootstrap | bearer | 404: nothing is managed for the desktop app |
| GET /api/oauth/usage | bearer | what the person's agents have spent and every budget over them: cents and percent |
| HEAD /, HEAD /api/hello | anybody | 200 |

A refused bearer is 401 with x-should-retry: false. Every answer has an x-request-id.
`;
