import { badUpstreams } from "../forwarding-suite.ts";
import { decisionsEndpoint } from "./endpoint.ts";

badUpstreams(decisionsEndpoint);
