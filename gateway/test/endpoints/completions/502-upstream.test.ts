import { badUpstreams } from "../forwarding-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

badUpstreams(completionsEndpoint);
