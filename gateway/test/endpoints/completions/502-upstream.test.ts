import { badUpstreams } from "../passed-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

badUpstreams(completionsEndpoint);
