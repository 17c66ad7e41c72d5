// What a developer writes over the types that openapi-typescript makes: it compiles, or the
// documents describe something else than people use.
import createClient from "openapi-fetch"
import type { paths } from "./types"

const client = createClient<paths>({ baseUrl: "https://api.example.com/v1", headers: { Authorization: "Bearer vsk_live_…" } })

export async function museum(): Promise<string> {
  const { data, error } = await client.POST("/knowledge/bases", {
    params: { header: { "Idempotency-Key": "museum" } },
    body: { name: "Museum" },
  })
  if (error) throw new Error(code(error))
  return data.data.id
}

export async function names(): Promise<string[]> {
  const { data, error } = await client.GET("/personas", { params: { query: { limit: 50 } } })
  if (error) throw new Error(code(error))
  return data.data.map((persona) => persona.name)
}

// The oldest contract has one error that is a word.
function code(answer: { error: string | { code: string } }): string {
  return typeof answer.error === "string" ? answer.error : answer.error.code
}
