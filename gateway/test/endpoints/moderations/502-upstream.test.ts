import { badUpstreams } from "../forwarding-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

badUpstreams(moderationsEndpoint);
